/* A library that loads and has nothing of what is looked for. */
int fake_empty(void);

int fake_empty(void)
{
    return 0;
}
